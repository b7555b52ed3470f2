import { siteSettings } from "../index.ts";

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export of this file.
export default siteSettings();
