// The canvas. Structure goes through the component's props, without positions; positions are animated here, so that a
// node that someone is dragging, or has just dropped, isn't pulled away.
(function (page) {
  "use strict";

  const MARGIN = 30; // around the grid, in its own units: room for labels
  const GLIDE = 200; // milliseconds
  const grabbed = new Set();
  const dropped = new Map(); // id -> seq of the first state that knows where it fell; Infinity until answered
  let shown = ""; // the structure last handed to the component
  let styled = "";
  let zoomedByHand = false;

  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  page.canvas = function () {
    const cy = window.cy;
    if (!cy || !cy.container() || !page.run.state) return null;
    if (!cy.scratch("_simuverse")) hook(cy);
    return cy;
  };

  page.showMap = function (state) {
    const cy = page.canvas();
    if (!cy) return;
    const elements = state.elements.map(({ position, ...rest }) =>
      rest.data.id === `agent:${page.selected}` ? { ...rest, classes: `${rest.classes} selected` } : rest,
    );
    const structure = JSON.stringify(elements);
    if (structure !== shown) {
      shown = structure;
      window.dash_clientside.set_props("map", { elements });
    }
    for (const element of state.elements) if (element.position) settle(cy, element, state.seq);
  };

  // Brings a node to where the world has it.
  function settle(cy, element, seq) {
    const id = element.data.id;
    if (grabbed.has(id) || seq < (dropped.get(id) ?? 0)) return;
    dropped.delete(id);
    const node = cy.getElementById(id);
    if (node.empty()) return;
    const there = element.position;
    const target = node.scratch("_target") || node.position();
    if (target.x === there.x && target.y === there.y && (node.animated() || same(node.position(), there))) return;
    node.scratch("_target", { ...there });
    node.stop(true);
    if (still()) node.position({ ...there });
    else node.animate({ position: { ...there } }, { duration: GLIDE, easing: "ease-in-out" });
  }

  const same = (a, b) => Math.abs(a.x - b.x) + Math.abs(a.y - b.y) < 0.01;

  function hook(cy) {
    cy.scratch("_simuverse", true);
    cy.on("grab", "node", (event) => {
      grabbed.add(event.target.id());
      event.target.stop(true);
    });
    cy.on("free", "node", (event) => grabbed.delete(event.target.id()));
    cy.on("dragfree", "node", (event) => drop(cy, event.target));
    cy.on("tap", "node.agent", (event) => page.select(event.target.data("name")));
    cy.on("pan zoom resize", page.showGround);
    cy.on("render", () => page.placeBubbles(cy));
    new ResizeObserver(() => {
      cy.resize();
      if (!zoomedByHand) page.fit();
    }).observe(cy.container());
    page.fit();
  }

  // The world says whether a node may lie where it was dropped; if not, it goes back.
  async function drop(cy, node) {
    const id = node.id();
    const { x, y } = node.position();
    dropped.set(id, Infinity);
    node.scratch("_target", null);
    const answer = await page.command("place", { name: node.data("name"), x, y });
    dropped.set(id, answer.seq);
    if (page.run.seq >= answer.seq) page.showMap(page.run.state);
  }

  page.fit = function () {
    const cy = page.canvas();
    if (!cy) return;
    const [low, high] = page.run.state.bounds;
    const zoom = Math.min(cy.width(), cy.height()) / (high - low + 2 * MARGIN);
    const middle = (low + high) / 2;
    zoomedByHand = false;
    cy.viewport({ zoom, pan: { x: cy.width() / 2 - middle * zoom, y: cy.height() / 2 - middle * zoom } });
    cy.userPanningEnabled(false);
    page.showGround();
  };

  page.zoom = function (factor) {
    const cy = page.canvas();
    if (!cy) return;
    zoomedByHand = true;
    cy.userPanningEnabled(true);
    cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
    page.showGround();
  };

  // The squares under the canvas, and labels that stay readable when the map is small.
  page.showGround = function () {
    const cy = page.canvas();
    if (!cy) return;
    const [low, high] = page.run.state.bounds;
    const { x, y } = cy.pan();
    const zoom = cy.zoom();
    const style = page.find("ground").style;
    style.width = style.height = `${high - low}px`;
    style.transform = `translate(${x + low * zoom}px, ${y + low * zoom}px) scale(${zoom})`;
    page.showColours();
  };

  const TEXT = ["font-size", "text-margin-x", "text-margin-y", "text-outline-width"];
  const SHAPE = ["width", "height"];
  const LARGEST = 1.2; // shapes grow less than text, or they would hide each other

  page.showColours = function () {
    const cy = window.cy;
    if (!cy || !page.stylesheets) return;
    const larger = Math.round(Math.min(1.6, Math.max(1, 1 / cy.zoom())) * 20) / 20;
    const key = `${page.theme()} ${larger}`;
    if (key === styled) return;
    styled = key;
    const stylesheet = page.stylesheets[page.theme()].map(({ selector, style }) => {
      const scaled = Object.entries(style).map(([name, value]) => {
        if (TEXT.includes(name)) return [name, value * larger];
        return [name, SHAPE.includes(name) ? value * Math.min(larger, LARGEST) : value];
      });
      return { selector, style: Object.fromEntries(scaled) };
    });
    window.dash_clientside.set_props("map", { stylesheet });
  };
})(window.simuverse);
