// What is said, and what the world refuses, beside whom it concerns. Kept a few seconds so that it can be read.
(function (page) {
  "use strict";

  const READ = 5000; // milliseconds that a bubble stays while the run goes on
  const GAP = 8;
  const bubbles = new Map(); // agent -> {node, turn, since}

  page.showBubbles = function (state) {
    for (const agent of state.agents) {
      const text = agent.refused || agent.said;
      const old = bubbles.get(agent.name);
      if (!text || (old && old.turn === agent.turn)) continue;
      if (old) old.node.remove();
      const node = page.element("div", { class: agent.refused ? "bubble refused" : "bubble" }, text);
      page.find("bubbles").append(node);
      bubbles.set(agent.name, { node, turn: agent.turn, since: performance.now() });
    }
    if (window.cy) page.placeBubbles(window.cy);
  };

  // At every beat: takes away what was there long enough, unless time stands still.
  page.ageBubbles = function (state) {
    for (const [name, bubble] of bubbles) {
      const agent = state.agents.find((one) => one.name === name);
      const old = performance.now() - bubble.since > READ && agent && agent.turn !== bubble.turn;
      if (!old && agent) continue;
      bubble.node.remove();
      bubbles.delete(name);
    }
  };

  // Above its person, or beside or below: wherever it hides least of other bubbles and of people.
  page.placeBubbles = function (cy) {
    const taken = cy.nodes(".agent").map((person) => {
      const box = person.renderedBoundingBox();
      return { left: box.x1, top: box.y1, width: box.w, height: box.h };
    });
    for (const [name, { node }] of bubbles) {
      const person = cy.getElementById(`agent:${name}`);
      if (person.empty()) continue;
      const size = { width: node.offsetWidth, height: node.offsetHeight };
      const places = around(person, size, cy);
      const hidden = places.map((place) => taken.reduce((sum, other) => sum + overlap(place, other), 0));
      const best = places[hidden.indexOf(Math.min(...hidden))];
      taken.push(best);
      node.style.transform = `translate(${Math.round(best.left)}px, ${Math.round(best.top)}px)`;
    }
  };

  // Where a bubble may be, best first, all on the map.
  function around(person, { width, height }, cy) {
    const { x, y } = person.renderedPosition();
    const reach = person.renderedOuterHeight() / 2 + GAP;
    const label = 1.6 * reach;
    const [left, middle, right] = [x - reach - width, x - width / 2, x + reach];
    return [
      [middle, y - reach - height],
      [right, y - height / 2],
      [left, y - height / 2],
      [middle, y + label],
      [right, y - reach - height],
      [left, y - reach - height],
      [right, y + reach],
      [left, y + reach],
    ].map(([from, top]) => ({
      left: Math.min(Math.max(4, from), cy.width() - width - 4),
      top: Math.min(Math.max(4, top), cy.height() - height - 4),
      width,
      height,
    }));
  }

  function overlap(a, b) {
    const wide = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
    const high = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
    return Math.max(0, wide) * Math.max(0, high);
  }
})(window.simuverse);
