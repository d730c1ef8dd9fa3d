import type { Scenario } from '../scenario.ts'
import { adding } from './adding.ts'
import { archive } from './archive.ts'
import { batch } from './batch.ts'
import { bigUploads } from './big-uploads.ts'
import { client } from './client.ts'
import { commits } from './commits.ts'
import { copy } from './copy.ts'
import { create } from './create.ts'
import { curveAccounts } from './curve-accounts.ts'
import { curveConnections } from './curve-connections.ts'
import { curveFolder } from './curve-folder.ts'
import { curveHistory } from './curve-history.ts'
import { curveLibrary } from './curve-library.ts'
import { downloads } from './downloads.ts'
import { encrypted } from './encrypted.ts'
import { history } from './history.ts'
import { importing } from './import.ts'
import { listing } from './listing.ts'
import { maintenance } from './maintenance.ts'
import { mix } from './mix.ts'
import { nodes } from './nodes.ts'
import { pages } from './pages.ts'
import { ping } from './ping.ts'
import { processes } from './processes.ts'
import { reading } from './reading.ts'
import { rename } from './rename.ts'
import { revert } from './revert.ts'
import { s3 } from './s3.ts'
import { search } from './search.ts'
import { smallUploads } from './small-uploads.ts'
import { start } from './start.ts'
import { syncBlocks, syncClients } from './sync.ts'
import { webApp } from './web-app.ts'
import { webdav } from './webdav.ts'

/** All scenarios, in the order they run. */
export const scenarios: readonly Scenario[] = [
  ping,
  listing,
  reading,
  create,
  rename,
  adding,
  commits,
  smallUploads,
  client,
  bigUploads,
  downloads,
  webdav,
  s3,
  nodes,
  processes,
  encrypted,
  archive,
  copy,
  batch,
  history,
  search,
  syncBlocks,
  syncClients,
  pages,
  revert,
  webApp,
  maintenance,
  importing,
  start,
  curveFolder,
  curveLibrary,
  curveHistory,
  curveAccounts,
  curveConnections,
  mix,
]
