/** Memory regions and their bytes. */

export { MemoryPage } from "./memory-page.tsx";
