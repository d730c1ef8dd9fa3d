export { pageFaults } from './faults.ts'
export { pageRoutes } from './routes.ts'
export type { PageServices } from './services.ts'
export { webAppFileRoutes } from './web-app.ts'
