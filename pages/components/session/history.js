// One step back in the browser is one page or one setting back.
//
// Streamlit adds an entry to the history for every parameter it writes into the address bar, also
// for those it writes while a page is being opened. Here a page that opens changes its own entry,
// and each later run adds at most one. A link that is gone back to is marked, so that the server
// takes the settings of the link instead of writing its own over it.
(() => {
  if (window.fairflHistory) return;
  window.fairflHistory = true;
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  const app = document.querySelector("[data-testid=stApp]");
  let opened = app.dataset.testScriptState === "notRunning";
  let added = false;
  const isMarked = (link) => new URL(link).searchParams.has("back");

  // The link may have been written before this ran, on a slow machine the page may even have been
  // opened whole: then that step is taken back, into its entry.
  const asked = performance.getEntriesByType("navigation")[0]?.name;
  if (asked && asked !== location.href && new URL(asked).pathname === location.pathname) {
    const link = location.href;
    addEventListener("popstate", (event) => {
      event.stopImmediatePropagation();
      replace(history.state, "", link);
    }, { capture: true, once: true });
    history.back();
  }

  // A run may begin and end between two pictures of a busy browser, and is then not seen here: what
  // a visitor does to a page at rest comes after all that was run before.
  const settle = () => {
    if (app.dataset.testScriptState !== "notRunning") return;
    opened = true;
    added = false;
  };
  new MutationObserver(settle).observe(app, {
    attributes: true,
    attributeFilter: ["data-test-script-state"],
  });
  for (const act of ["pointerdown", "keydown"]) addEventListener(act, settle, true);

  // On a busy machine Streamlit writes the link of another page before that page's path, to which
  // it then adds the same link: both are the one step to that page.
  history.pushState = (state, unused, url) => {
    const next = new URL(url, location);
    const elsewhere = next.pathname !== location.pathname;
    const late = elsewhere && added && next.search === location.search;
    const known = !elsewhere && (!opened || added || isMarked(location));
    if (elsewhere) opened = false;
    if (late || known) return replace(state, unused, url);
    added = true;
    return push(state, unused, url);
  };

  // Streamlit listens, too, and runs the page with the link as it is; so it is told once more.
  addEventListener("popstate", (event) => {
    if (isMarked(location)) return;
    event.stopImmediatePropagation();
    const here = new URL(location);
    here.searchParams.set("back", "1");
    replace(history.state, "", here);
    dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
  }, true);
})();
