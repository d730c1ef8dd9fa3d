export { SearchPage } from './lazy.ts'
export { SearchBox } from './search-box.tsx'
