export { DeletedPage, HomePage, LibrariesPage, StarredPage } from './lazy.ts'
