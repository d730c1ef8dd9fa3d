export { DeletedPage, LibrariesPage, StarredPage } from './lazy.ts'
