export { apiFaults } from './faults.ts'
export { clearListingCache } from './folders/folder-listing.ts'
export { apiRoutes } from './routes.ts'
export type { ApiServices } from './services.ts'
