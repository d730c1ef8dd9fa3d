import { onSessionChange, token } from '../api/index.ts'
import { Engine } from './engine.ts'
import { indexedStore } from './indexed-store.ts'
import { forgetLinks } from './links.ts'
import { pageClock, serverNetwork } from './server-network.ts'
import { showTray } from './uploads.ts'
import { pageVisits } from './visits.ts'

/** The uploads of the page. */
export const engine = new Engine({
  store: indexedStore,
  visits: pageVisits,
  network: serverNetwork,
  clock: pageClock,
  onFound: showTray,
})

addEventListener('beforeunload', (event) => {
  if (engine.isBusy) event.preventDefault()
})

onSessionChange(() => {
  if (token() !== undefined) return
  forgetLinks()
  engine.stop()
})
