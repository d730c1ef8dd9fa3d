export { DeletedPage, HomePage, LibrariesPage, SharedPage, StarredPage } from './lazy.ts'
