// Next and back by arrow keys or a presenter's remote, which presses Page Down and Page Up.
(() => {
  if (window.fairflKeys) return;
  window.fairflKeys = true;
  const steps = { ArrowRight: "onward", PageDown: "onward", ArrowLeft: "backward", PageUp: "backward" };
  addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || !document.querySelector(".fairfl-presenting") || event.altKey || event.ctrlKey) return;
    const typing = event.target.matches?.("input, textarea, [role=slider], [contenteditable]");
    if (typing && event.key.startsWith("Arrow")) return; // it moves what has the focus
    const button = document.querySelector(`.st-key-${step} button:not([disabled])`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
})();
