// Looks at the run and commands it. The run never waits for a page: what is missed between two looks is in the next.
(function (page) {
  "use strict";

  const run = (page.run = { seq: -1, state: null, at: 0, lost: 0 });
  let looking = false;

  // Asks for what is new; hands it to the parts of the page.
  page.look = async function () {
    if (looking) return;
    looking = true;
    let state = null;
    try {
      const response = await fetch(`/api/state?since=${run.seq}`, { cache: "no-store" });
      if (response.status === 200) state = await response.json();
      run.lost = response.ok ? 0 : run.lost + 1;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      run.lost += 1;
    } finally {
      looking = false;
    }
    if (state === null) return;
    if (state.seq < run.seq) {
      location.reload(); // another run is served here now
      return;
    }
    Object.assign(run, { seq: state.seq, state, at: performance.now() });
    page.show(state);
  };

  // Sends a command and tells what became of it. The answer: {ok, seq, message}.
  page.command = async function (name, body) {
    let answer;
    try {
      const response = await fetch(`/api/command/${name}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body || {}),
      });
      answer = { seq: run.seq, ...(await response.json()) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      answer = { ok: false, seq: run.seq, message: "The run can't be reached." };
    }
    page.say(answer.message, !answer.ok);
    page.look();
    return answer;
  };

  // How long an agent has been in its phase, in seconds, now.
  page.phaseSeconds = function (agent) {
    return agent.phase_seconds + (performance.now() - run.at) / 1000;
  };
})(window.simuverse);
