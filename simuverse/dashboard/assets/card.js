// One turn, drawn: what was heard, what came to mind and why, what was done, what was written, what was asked of models.
(function (page) {
  "use strict";

  const { element } = page;
  const figure = (value, digits) => (value === null ? "–" : value.toFixed(digits));
  const ms = (value) => (value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`);
  const plural = (count, one) => `${count} ${count === 1 ? one : `${one}s`}`;

  const section = (name, heading, note, ...content) =>
    element(
      "section",
      { class: name },
      element("div", { class: "heading" }, element("h3", {}, heading), note ? element("span", { class: "note" }, note) : null),
      content,
    );

  const folded = (key, summary, ...content) =>
    element("details", { "data-key": key }, element("summary", {}, summary), element("div", { class: "inside" }, content));

  const problems = (list) => list.map((text) => element("p", { class: "problem" }, text));

  // All of a card's sections, in the order of the turn.
  page.card = function (card) {
    return [heard(card.situation), recalled(card), did(card), wrote(card.remembered, card.milliseconds), calls(card)];
  };

  function heard(situation) {
    const words = situation.heard.map((one) =>
      element("p", { class: "said" }, element("b", {}, one.speaker), one.to ? ` to ${one.to}: ` : ": ", one.text),
    );
    const seen = [...situation.seen, ...situation.carrying.map((thing) => `Carrying ${thing}.`)];
    return section(
      "heard",
      "Heard",
      situation.location,
      words.length ? words : element("p", { class: "quiet" }, "No one said anything in earshot."),
      folded(
        "seen",
        `Saw ${plural(situation.seen.length, "thing")}, and had in mind`,
        element("ul", {}, seen.map((text) => element("li", {}, text))),
        situation.intentions.length ? element("p", { class: "note" }, `Up to: ${situation.intentions.join(" ")}`) : null,
        situation.answer ? element("p", { class: "note" }, `The world's last answer: ${situation.answer}`) : null,
      ),
    );
  }

  function recalled(card) {
    const { flashbacks, runners_up: runners, queries, considered, silence } = card.recollection;
    const weighed = `${flashbacks.length} of ${considered} weighed · ${ms(card.milliseconds.recollect)}`;
    return section(
      "recalled",
      "Came to mind",
      weighed,
      problems(card.recollection.problems),
      silence
        ? element("div", { class: "silence" }, element("strong", {}, "Nothing came to mind"), element("span", { class: "quiet" }, silence))
        : flashbacks.map(flashback),
      runners.length ? folded("missed", `Just missed (${runners.length})`, runners.map(runner)) : null,
      queries.length ? folded("queries", `Queries (${queries.length}), ${card.recollection.mode}`, queries.map(query)) : null,
    );
  }

  function flashback(one) {
    return element(
      "article",
      { class: one.acted_on ? "flashback acted" : "flashback", "data-memory": one.id },
      element("blockquote", {}, one.summary),
      about(one),
      one.became ? element("p", { class: "note became" }, one.became) : null,
      chain(one),
      weights(one.score),
      foundBy(one),
    );
  }

  const about = (memory) =>
    element(
      "p",
      { class: "note" },
      [
        memory.source,
        `${memory.when}, ${memory.age}`,
        memory.category,
        `importance ${memory.importance}`,
        memory.critical ? `must survive: ${memory.critical}` : null,
        ...memory.marks,
        memory.flags.length ? memory.flags.join(", ").replaceAll("_", " ") : null,
      ]
        .filter(Boolean)
        .join(" · "),
    );

  function chain(one) {
    const links = one.chain.map((link) =>
      element("li", { class: link.link }, element("span", {}, link.text, link.when ? element("time", {}, link.when) : null)),
    );
    const label = one.acted_on ? "How it came to be acted on" : "How it came back";
    return element("ol", { class: "chain", "aria-label": label }, links);
  }

  // The three factors: a bar for the eye, a table for the figures.
  function weights(score) {
    const full = Math.max(score.highest, score.total, Number.EPSILON);
    const said = score.factors.map((f) => `${f.name} ${figure(f.part, 2)}`).join(", ");
    const parts = score.factors.map((f) =>
      element("i", { class: f.name, style: `width: ${(100 * Math.max(0, f.part)) / full}%` }),
    );
    const rows = score.factors.map((f) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, element("i", { class: `swatch ${f.name}` }), f.name),
        [f.raw, f.scaled, f.weight, f.part].map((value) => element("td", {}, figure(value, 2))),
      ),
    );
    const columns = ["Factor", "raw", "scaled", "× weight", "= part"];
    return [
      element(
        "div",
        { class: "total" },
        element("div", { class: "bar", role: "img", "aria-label": said }, parts),
        element("span", {}, element("b", {}, figure(score.total, 2)), ` ${score.preset}`),
      ),
      element(
        "table",
        { class: "factors" },
        element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, rows),
      ),
    ];
  }

  function foundBy(one) {
    const lines = one.found_by.map((found) => {
      const ways = [];
      if (found.semantic_rank !== null) ways.push(`rank ${found.semantic_rank} in meaning (cosine ${figure(found.cosine, 2)})`);
      else if (found.cosine !== null) ways.push(`cosine ${figure(found.cosine, 2)}`);
      if (found.keyword_rank !== null) ways.push(`rank ${found.keyword_rank} in words (BM25 ${figure(found.bm25, 2)})`);
      if (found.context_rank !== null) ways.push(`rank ${found.context_rank} read in its context (BM25 ${figure(found.context_bm25, 2)})`);
      return element("li", {}, `Query ${found.query}: ${ways.join(", ") || (found.listed ? "by its time" : "found")}`);
    });
    if (one.matched !== null) {
      const signals = Object.entries(one.signals).map(([name, part]) => `${name} ${figure(part, 2)}`);
      const made = signals.length ? `; relevance is ${signals.join(" + ")}` : "";
      lines.push(element("li", {}, `Holds ${Math.round(100 * one.matched)} % of a query's words${made}`));
    }
    return element("ul", { class: "found", "aria-label": "Found by" }, lines);
  }

  const runner = (one) =>
    element(
      "div",
      { class: "runner", "data-memory": one.id },
      element("p", {}, one.summary),
      element("p", { class: "why" }, one.why),
      about(one),
      weights(one.score),
      foundBy(one),
    );

  const query = (one) =>
    element(
      "div",
      { class: "query" },
      element("p", {}, `${one.number}. ${one.text || one.keywords.join(", ")}`),
      element(
        "p",
        { class: "note" },
        [one.type, one.text && one.keywords.length ? `words: ${one.keywords.join(", ")}` : null, ...one.conditions]
          .filter(Boolean)
          .join(" · "),
      ),
    );

  function did(card) {
    const { decision, outcome, milliseconds } = card;
    const thoughts = Object.entries(decision.reflection);
    return section(
      "did",
      "Did",
      `${ms(milliseconds.decide)} to decide`,
      problems(decision.problems),
      element("p", { class: "deed" }, decision.call),
      element("p", { class: outcome.ok ? "answer ok" : "answer refused" }, outcome.sentence),
      thoughts.length
        ? folded(
            "thoughts",
            "Thoughts",
            thoughts.map(([name, text]) => element("p", {}, element("b", {}, `${name.replaceAll("_", " ")}: `), text)),
          )
        : null,
    );
  }

  function wrote(remembered, milliseconds) {
    const entry = (label) => (one) =>
      element("div", { class: "runner", "data-memory": one.id }, element("p", {}, `${label}${one.summary}`), about(one));
    const kept = [
      ...remembered.written.map(entry("")),
      ...remembered.merged.map(entry("Known already: ")),
      ...remembered.past.map(entry("Past since: ")),
    ];
    const nothing = remembered.mode === "off" ? "Memory is switched off." : "Nothing was worth writing down.";
    return section(
      "wrote",
      "Remembered",
      `${remembered.mode} · ${ms(milliseconds.remember)}`,
      problems(remembered.problems),
      kept.length ? kept : element("p", { class: "quiet" }, nothing),
      remembered.refused.map((text) => element("p", { class: "note" }, `Not written, ${text}`)),
      remembered.evicted.map((text) => element("p", { class: "note" }, `Had to go: ${text}`)),
      remembered.failed ? element("p", { class: "note" }, "Not written down yet; memories SOURCE retry tries again.") : null,
      remembered.kept_raw ? folded("raw", "Kept for another try", element("pre", {}, remembered.kept_raw)) : null,
    );
  }

  function calls(card) {
    const tokens = (one) => (one.input_tokens === null ? "tokens not counted" : `${one.input_tokens} + ${one.output_tokens ?? "?"} tokens`);
    const body = card.calls.map((one, place) =>
      folded(
        `call-${place}`,
        `${one.purpose.replaceAll("_", " ")}, ${one.model}, ${ms(one.milliseconds)}, ${tokens(one)}`,
        element("p", { class: "note" }, `attempt ${one.attempt} · temperature ${one.temperature} · ${plural(one.calls, "request")}`),
        one.problem ? element("p", { class: "problem" }, one.problem) : null,
        one.messages.map((message) => [
          element("h4", { class: "note" }, `${message.role}, as sent`),
          element("pre", { tabindex: 0 }, message.parts.map((part) => (part.flashback ? element("mark", {}, part.text) : part.text))),
        ]),
        element("h4", { class: "note" }, "reply, as it came"),
        element("pre", { tabindex: 0 }, one.reply ?? "none"),
      ),
    );
    return section("calls", "Prompts and replies", plural(card.calls.length, "call"), body);
  }
})(window.simuverse);
