import type { Account } from '../../people/accounts/index.ts'
import type { Route } from '../../platform/http/index.ts'
import { libraryUrl, PREFIXES } from './address.ts'
import { makeCollection, relocate, removeItem } from './edit.ts'
import { lockItem, unlockItem } from './lock.ts'
import { findProperties } from './propfind.ts'
import { changeItemProperties } from './proppatch.ts'
import { storeFile } from './put.ts'
import { describeService, readFile } from './read.ts'
import { route, type WebdavServices } from './services.ts'

const reads = { auth: 'webdav', scope: 'read', body: 'raw', prefix: true } as const
// A client that stores a folder sends each URL once, but all of these requests read the rows of one library.
const writes = { ...reads, scope: 'write', resourceOf: libraryUrl } as const

/** WebDAV, class 1 and 2 (RFC 4918), under both prefixes. */
export const webdavRoutes: readonly Route<Account, WebdavServices>[] = PREFIXES.flatMap((prefix) => [
  ...readingAt(`${prefix}/`),
  ...writingAt(`${prefix}/`),
])

function readingAt(path: string) {
  return [
    route({
      method: 'OPTIONS',
      path,
      auth: 'none',
      summary: 'Says that WebDAV is served here.',
      body: 'raw',
      prefix: true,
      handle: () => describeService(),
    }),
    route({
      ...reads,
      method: 'GET',
      path,
      summary: 'WebDAV: sends a file, with ranges.',
      handle: ({ user, request }, services) => readFile(services, user, request),
    }),
    route({
      ...reads,
      method: 'PROPFIND',
      path,
      summary: 'WebDAV: lists a folder, or describes an item.',
      handle: ({ user, request, body }, services) => findProperties(services, user, request, body),
    }),
  ]
}

function writingAt(path: string) {
  return [
    route({
      ...writes,
      method: 'PROPPATCH',
      path,
      summary: 'WebDAV: stores properties of an item.',
      handle: ({ user, request, body }, services) => changeItemProperties(services, user, request, body),
    }),
    route({
      ...writes,
      method: 'PUT',
      path,
      summary: 'WebDAV: stores a file.',
      handle: ({ user, request, body }, services) => storeFile(services, user, request, body),
    }),
    route({
      ...writes,
      method: 'MKCOL',
      path,
      summary: 'WebDAV: creates a folder.',
      handle: ({ user, request, body }, services) => makeCollection(services, user, request, body),
    }),
    route({
      ...writes,
      method: 'DELETE',
      path,
      summary: 'WebDAV: deletes a file or folder.',
      handle: ({ user, request }, services) => removeItem(services, user, request),
    }),
    route({
      ...writes,
      method: 'COPY',
      path,
      summary: 'WebDAV: copies a file or folder.',
      handle: ({ user, request }, services) => relocate(services, user, request, 'copy'),
    }),
    route({
      ...writes,
      method: 'MOVE',
      path,
      summary: 'WebDAV: moves or renames a file or folder.',
      handle: ({ user, request }, services) => relocate(services, user, request, 'move'),
    }),
    route({
      ...writes,
      method: 'LOCK',
      path,
      summary: 'WebDAV: locks an item, or renews a lock.',
      handle: ({ user, request, body }, services) => lockItem(services, user, request, body),
    }),
    route({
      ...writes,
      method: 'UNLOCK',
      path,
      summary: 'WebDAV: removes a lock.',
      handle: ({ user, request }, services) => unlockItem(services, user, request),
    }),
  ]
}
