export { AccountPage, DevicePage } from './lazy.ts'
