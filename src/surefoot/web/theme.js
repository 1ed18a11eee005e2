// Before anything is painted, so that a page that is kept dark never flashes.
(() => {
  "use strict";
  const saved = localStorage.getItem("theme");
  if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
})();
