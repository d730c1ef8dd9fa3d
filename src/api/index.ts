export { apiFaults } from './faults.ts'
export { apiRoutes } from './routes.ts'
export type { ApiServices } from './services.ts'
