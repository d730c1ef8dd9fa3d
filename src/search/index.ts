export { extensionsOf, isImage } from './categories.ts'
export type { Bounds, Filters } from './match-request.ts'
export { registerSearchMetrics } from './metrics.ts'
export { type Found, Search } from './search.ts'
