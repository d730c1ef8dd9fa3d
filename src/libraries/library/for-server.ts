// What the server reads for itself, on behalf of nobody: consumers of commits, maintenance, the commands of an operator. Only the files that
// `test/structure/import-map.ts` lists may import this one. What answers a request reads through a handle of `access` (I8).
export { storesOf } from './core.ts'
