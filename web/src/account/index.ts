export { AccountPage } from './lazy.ts'
