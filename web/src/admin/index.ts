export { AdminPage } from './lazy.ts'
