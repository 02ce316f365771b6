// Puts the parts together: what a new state changes, and what every beat does.
(function (page) {
  "use strict";

  let begun = false;

  page.show = function (state) {
    page.showTransport(state);
    page.showAgents(state);
    page.showMap(state);
    page.showBubbles(state);
    page.showTable(state);
    page.showLog(state);
    page.showBanners(state);
    page.showPerson(state);
    state.events = []; // logged: showing this state again must not repeat them
    document.body.dataset.seq = state.seq;
  };

  function begin(state) {
    const asked = new URL(location.href).searchParams.get("agent");
    const names = state.agents.map((agent) => agent.name);
    page.selected = names.includes(asked) ? asked : names[0] || null;
    page.showTheme();
  }

  // Called by Dash four times a second.
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.simuverse = {
    beat: function (_count, stylesheets) {
      page.stylesheets = stylesheets;
      page.look();
      const state = page.run.state;
      if (!state) return;
      if (!begun) {
        begun = true;
        begin(state);
        page.show(state);
      }
      page.showPhases(state);
      page.ageBubbles(state);
      page.showBanners(state);
      page.keepUp(state);
      if (page.canvas() && !document.body.dataset.map) {
        document.body.dataset.map = "ready";
        page.showMap(state);
      }
    },
  };
})(window.simuverse);
