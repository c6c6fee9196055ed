(function () {
  "use strict";
  var dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  function draw(node) {
    if (node.dataset.drawn) return;
    node.dataset.drawn = "yes";
    var spec = JSON.parse(document.getElementById(node.dataset.spec).textContent);
    vegaEmbed(node, spec, {
      mode: "vega-lite",
      renderer: "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      tooltip: { theme: dark ? "dark" : "light" }
    }).catch(function (error) {
      node.textContent = "This chart could not be drawn (" + error.message + "); its numbers are in the table.";
    });
  }
  function drawWithin(root) {
    root.querySelectorAll(".chart").forEach(function (node) {
      var closed = node.closest("details:not([open])");
      if (!closed) draw(node);
    });
  }
  // A chart in a closed part has no width yet: draw it when the part opens.
  document.querySelectorAll("details").forEach(function (part) {
    part.addEventListener("toggle", function () { if (part.open) drawWithin(part); });
  });
  drawWithin(document);
  // What does not fit must be seen to go on: a table cut at its edge looks whole.
  function hint(box) {
    var wider = box.scrollWidth > box.clientWidth + 1;
    var before = box.previousElementSibling;
    var said = before && before.classList.contains("hint");
    box.classList.toggle("wider", wider);
    if (said) before.hidden = !wider;
    if (said || !wider) return;
    var text = document.createElement("p");
    text.className = "hint";
    text.textContent = "This table is wider than the page: scroll it sideways →";
    box.before(text);
  }
  var boxes = document.querySelectorAll(".scroll");
  var watch = new ResizeObserver(function (found) { found.forEach(function (one) { hint(one.target); }); });
  boxes.forEach(function (box) { watch.observe(box); });
})();
