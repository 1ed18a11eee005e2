// Before anything is painted, so that a page that is kept dark never flashes.
(() => {
  "use strict";
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
