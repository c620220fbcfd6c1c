// Saving data of the page as a file.

const KEPT = 1000;

/** Let the browser save a file. */
export function saved(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
}
