export { FilePage, preloadViewer, VisitedFilePage } from './lazy-parts.ts'
