// Loads a page's module as a browser would: an ES module whatever the file's ending means to Node.
import { readFile } from "node:fs/promises";

export const load = async (name) => {
  const source = await readFile(new URL(`../../frontend/static/js/${name}`, import.meta.url), "utf8");
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
};
