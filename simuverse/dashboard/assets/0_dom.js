// Small tools for the page's own part of the document. First by name, as scripts load in the order of their names.
// Text is only ever set as text, never as markup.
window.simuverse = window.simuverse || {};
(function (page) {
  "use strict";

  // An element. Attributes that are null or false are left out; `on` holds listeners; children may be nested or null.
  page.element = function (tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "on") Object.entries(value).forEach(([event, listener]) => made.addEventListener(event, listener));
      else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };

  page.find = (id) => document.getElementById(id);

  page.setText = function (node, text) {
    if (node.textContent !== text) node.textContent = text;
  };

  // Tells assistive technology; a message that stands for a refusal is also shown for a while.
  let hiding = 0;
  page.say = function (message, visible) {
    page.setText(page.find("announcements"), message);
    if (!visible) return;
    const toast = page.find("toast");
    toast.textContent = message;
    toast.hidden = false;
    clearTimeout(hiding);
    hiding = setTimeout(() => (toast.hidden = true), 6000);
  };
})(window.simuverse);
