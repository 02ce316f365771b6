// What the canvas can't tell everyone: agents as buttons, the world as a table, the log, the banners.
(function (page) {
  "use strict";

  const { element, find, setText } = page;
  const LINES = 300;
  const LONG = 5; // seconds in one phase after which the page says so
  let rows = "";
  let banners = "";

  page.showAgents = function (state) {
    const list = find("agents");
    state.agents.forEach((agent, place) => {
      let button = list.querySelector(`[data-agent="${CSS.escape(agent.name)}"]`);
      if (!button) {
        const key = place < 9 ? element("kbd", { "aria-hidden": "true" }, String(place + 1)) : null;
        button = element(
          "button",
          { type: "button", "data-do": "select", "data-agent": agent.name },
          element("strong", {}, element("i", { class: "mark agent" }), agent.name, key),
          element("span", { class: "doing" }),
          element("span", { class: "now" }, element("span", { class: "phase" }), element("span", { class: "count" })),
        );
        list.append(button);
      }
      button.setAttribute("aria-pressed", String(agent.name === page.selected));
      const carrying = agent.carrying ? `, with ${agent.carrying}` : "";
      setText(button.querySelector(".doing"), agent.doing + carrying);
      button.querySelector(".doing").title = agent.doing + carrying;
    });
    page.showPhases(state);
  };

  page.showPhases = function (state) {
    const slow = [];
    for (const agent of state.agents) {
      const seconds = Math.floor(page.phaseSeconds(agent));
      const button = find("agents").querySelector(`[data-agent="${CSS.escape(agent.name)}"]`);
      if (button) {
        setText(button.querySelector(".phase"), `${agent.phase} ${seconds} s`);
        setText(button.querySelector(".count"), agent.turn ? `${agent.flashbacks} recalled` : "");
      }
      if (agent.phase !== "idle" && seconds >= LONG) slow.push(`${agent.name} has been ${agent.phase} for ${seconds} s.`);
    }
    setText(find("waiting"), slow.join(" "));
    find("waiting").hidden = slow.length === 0;
  };

  page.showTable = function (state) {
    const now = JSON.stringify(state.things);
    if (now === rows) return;
    rows = now;
    const cells = (thing) => ["kind", "x", "y", "state"].map((name) => element("td", {}, String(thing[name])));
    find("things").replaceChildren(
      ...state.things.map((thing) => element("tr", {}, element("th", { scope: "row" }, thing.name), cells(thing))),
    );
  };

  page.showLog = function (state) {
    const log = find("log");
    for (const event of state.events) {
      log.prepend(
        element(
          "li",
          { class: event.kind, title: `tick ${event.tick}` },
          element("time", {}, event.clock),
          element("b", {}, event.agent || "–"),
          element("p", {}, event.text),
        ),
      );
    }
    while (log.children.length > LINES) log.lastElementChild.remove();
    const heard = state.events.filter((event) => ["refused", "problem", "fault", "recalled", "delivered"].includes(event.kind));
    const last = heard[heard.length - 1];
    if (last && last.kind !== "refused") page.say(`${last.agent || ""} ${last.text}`.trim(), false);
  };

  page.showBanners = function (state) {
    const lost = page.run.lost >= 3 ? [{ kind: "fault", text: "The run can't be reached any more. This page is old." }] : [];
    const now = JSON.stringify([...lost, ...state.banners]);
    if (now === banners) return;
    banners = now;
    find("banners").replaceChildren(
      ...[...lost, ...state.banners].map((one) => element("p", { class: `banner ${one.kind}` }, one.text)),
    );
  };
})(window.simuverse);
