/** Starts the console in its page. */

import { render } from "preact";
import { App } from "./app/index.ts";
import { showNamesEscaped } from "./ui/index.ts";

showNamesEscaped();
const place = document.getElementById("console");
if (place !== null) {
  render(<App />, place);
}
