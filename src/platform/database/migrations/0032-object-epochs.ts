import type { Migration } from './types.ts'

export const objectEpochs: Migration = {
  version: 32,
  name: 'object epochs',
  async up(tx, { int }) {
    // Incremented when objects or blocks of the library are deleted, so that no process serves them from its caches.
    await tx.run(`alter table library add column objects_epoch ${int} not null default 0`)
  },
}
