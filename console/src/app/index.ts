/** The frame of the console: sign-in, navigation, and the page that the address names. */

export { App } from "./app.tsx";
