// The side panel: the selected person's strength and last turn. It follows the run, but waits while someone reads: a
// fold that is open, selected text or the Hold button keep a turn in place until the newest is asked for.
(function (page) {
  "use strict";

  const { element, find, setText } = page;
  let person = null; // whose head is drawn
  let shown = null; // the card that is drawn
  let asked = null; // the turn that is being fetched
  let wanted = null; // the turn that someone who reads another asked for
  let held = false;
  let sliding = false;

  page.showPerson = function (state) {
    const agent = state.agents.find((one) => one.name === page.selected);
    if (person !== page.selected) meet(agent);
    if (agent && !sliding) {
      find("strength").value = agent.strength;
      showTemperature(agent.strength, agent.temperature);
    }
    page.keepUp(state);
  };

  // Draws the selected person's newest turn, unless the one on show is being read.
  page.keepUp = function (state) {
    const agent = state.agents.find((one) => one.name === page.selected);
    if (!agent || !agent.turn) return;
    const behind = shown && shown.turn !== agent.turn;
    const stays = staying();
    showHeld(behind && stays, state);
    if ((!shown || behind) && !stays) fetchTurn(agent);
  };

  page.hold = function () {
    held = !held;
    find("hold").setAttribute("aria-pressed", String(held));
    page.keepUp(page.run.state);
  };

  page.showNewest = function () {
    const agent = page.run.state.agents.find((one) => one.name === page.selected);
    if (!agent) return;
    wanted = agent.turn;
    fetchTurn(agent);
  };

  const staying = () => shown !== null && (held || reading());

  function reading() {
    const card = find("card");
    const selection = document.getSelection();
    const selecting = !selection.isCollapsed && card.contains(selection.anchorNode);
    return selecting || card.querySelector("details[open]") !== null;
  }

  function showHeld(wanted, state) {
    const bar = find("held");
    bar.hidden = !wanted;
    if (!wanted) return;
    if (!bar.firstChild) {
      bar.append(element("span", {}), element("button", { type: "button", "data-do": "newest" }, "Show the newest"));
    }
    const newer = state.tick - shown.tick;
    setText(bar.firstChild, `Tick ${shown.tick} stays while you read; ${newer === 1 ? "1 turn is" : `${newer} turns are`} newer.`);
  }

  async function fetchTurn(agent) {
    if (asked === agent.turn) return;
    asked = agent.turn;
    let card = null;
    try {
      const response = await fetch(`/api/turn/${encodeURIComponent(agent.name)}`, { cache: "no-store" });
      if (response.ok) card = await response.json();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // unreachable: the next look says so
    } finally {
      asked = null;
    }
    if (!card || card.agent !== page.selected) return;
    // Someone may have begun to read while it was on its way.
    if (staying() && wanted !== agent.turn) page.keepUp(page.run.state);
    else draw(card);
  }

  function draw(card) {
    const room = find("card");
    const panel = find("panel");
    const open = new Set([...room.querySelectorAll("details[open]")].map((one) => one.dataset.key));
    const { scrollTop } = panel;
    shown = card;
    room.replaceChildren(...page.card(card));
    for (const fold of room.querySelectorAll("details")) fold.open = open.has(fold.dataset.key);
    panel.scrollTop = scrollTop;
    room.dataset.turn = card.turn;
    room.dataset.tick = card.tick;
    setText(find("at"), `tick ${card.tick}, ${card.clock}`);
    find("held").hidden = true;
  }

  // Another person, or no one: a new head and an empty card.
  function meet(agent) {
    person = page.selected;
    shown = null;
    held = false;
    find("card").replaceChildren();
    delete find("card").dataset.turn;
    find("held").hidden = true;
    find("panel").scrollTop = 0;
    find("person").replaceChildren(...(agent ? head(agent) : [element("p", { class: "quiet" }, "Select someone to see what comes to their mind.")]));
    if (agent && !agent.turn) find("card").replaceChildren(element("p", { class: "quiet" }, "Has not had a turn yet."));
  }

  function head(agent) {
    const slider = element("input", {
      type: "range",
      id: "strength",
      min: 0,
      max: 1,
      step: 0.05,
      value: agent.strength,
      on: {
        input: () => {
          sliding = true;
          const strength = Number(slider.value);
          showTemperature(strength, Math.min(1, Math.max(0.1, 1 - 0.9 * strength)));
        },
        change: async () => {
          await page.command("strength", { agent: agent.name, value: Number(slider.value) });
          sliding = false;
        },
      },
    });
    return [
      element(
        "div",
        { class: "title" },
        element("i", { class: "mark agent" }),
        element("h2", {}, agent.name),
        element("span", { class: "at", id: "at" }),
        element("button", { type: "button", class: "hold", id: "hold", "data-do": "hold", "aria-pressed": "false" }, "Hold"),
      ),
      element(
        "div",
        { class: "strength" },
        element("label", { for: "strength" }, "Strength"),
        slider,
        element("output", { id: "temperature", for: "strength" }),
      ),
    ];
  }

  function showTemperature(strength, temperature) {
    setText(find("temperature"), `${Number(strength).toFixed(2)} · temperature ${temperature.toFixed(2)}`);
  }
})(window.simuverse);
