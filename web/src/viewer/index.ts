export { FilePage, preloadViewer } from './lazy-parts.ts'
