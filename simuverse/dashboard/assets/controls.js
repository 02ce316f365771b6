// Buttons, keys, colours, selection: what people do to the page.
(function (page) {
  "use strict";

  const { find, setText } = page;
  const CHOSEN = "simuverse-theme";
  const dark = matchMedia("(prefers-color-scheme: dark)");

  page.selected = null;

  // Shows someone; null shows no one. The address keeps it, so that it can be sent to others.
  page.select = function (name) {
    page.selected = name;
    const address = new URL(location.href);
    if (name) address.searchParams.set("agent", name);
    else address.searchParams.delete("agent");
    history.replaceState(null, "", address);
    if (page.run.state) page.show(page.run.state);
  };

  page.theme = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");

  page.showTheme = function () {
    const other = page.theme() === "dark" ? "Light" : "Dark";
    setText(find("theme"), other);
    page.showColours();
  };

  page.showTransport = function (state) {
    setText(find("play"), state.running ? "Pause" : "Play");
    setText(find("clock"), state.clock);
    setText(find("date"), state.date);
    // The place of the zone's name is enough where there is little room; the whole name is a touch away.
    setText(find("zone"), state.zone.split("/").pop().replaceAll("_", " "));
    find("zone").title = state.zone && `Times are shown in ${state.zone}`;
    setText(find("tick"), `tick ${state.tick}`);
    const speed = find("speed");
    if (document.activeElement !== speed) speed.value = String(state.speed);
  };

  const deeds = {
    toggle: () => page.command(page.run.state.running ? "pause" : "play"),
    step: () => page.command("step"),
    select: (button) => page.select(button.dataset.agent),
    theme: () => {
      const other = page.theme() === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = other;
      localStorage.setItem(CHOSEN, other);
      page.showTheme();
    },
    help: () => find("help").showModal(),
    "help-close": () => find("help").close(),
    "zoom-in": () => page.zoom(1.3),
    "zoom-out": () => page.zoom(1 / 1.3),
    "zoom-fit": () => page.fit(),
    hold: () => page.hold(),
    newest: () => page.showNewest(),
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button && page.run.state) deeds[button.dataset.do](button);
  });

  document.addEventListener("change", (event) => {
    if (event.target.id === "speed") page.command("speed", { value: Number(event.target.value) });
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !page.run.state || find("help").open) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    const agent = page.run.state.agents[Number(event.key) - 1];
    if (event.key === " ") {
      if (event.target.closest("button, summary, a")) return; // its own key
      event.preventDefault();
      deeds.toggle();
    } else if (event.key === ".") deeds.step();
    else if (event.key === "?") deeds.help();
    else if (event.key === "Escape") page.select(null);
    else if (/^[1-9]$/.test(event.key) && agent) page.select(agent.name);
  });

  const chosen = localStorage.getItem(CHOSEN);
  if (chosen) document.documentElement.dataset.theme = chosen;
  dark.addEventListener("change", page.showTheme);
})(window.simuverse);
