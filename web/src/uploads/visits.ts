import type { Visits } from './upload-store.ts'
import { FLAG } from './visit-flag.ts'

const LOCK = 'carrel.uploads.visit.'
const BEAT_MS = 5000
/** Timers of hidden pages run once a minute. */
const DEAD_MS = 180_000

/** Web Locks exist only in secure contexts. */
const { locks } = navigator as { locks?: LockManager }

/** Visits hold a Web Lock. Where there are none, they write the time again and again. */
export const pageVisits: Visits = {
  begin: locks === undefined ? beginBeating : (owner) => beginLocked(locks, owner),

  whenEnded(owner, act) {
    if (locks === undefined) watchBeats(owner, act)
    else void locks.request(LOCK + owner, act)
  },

  async others() {
    const names =
      locks === undefined
        ? Object.keys(localStorage)
        : ((await locks.query()).held ?? []).map(({ name }) => name ?? '')
    return names.filter((name) => name.startsWith(LOCK)).map((name) => name.slice(LOCK.length))
  },

  announce(owner) {
    // Differs each time, because only changes are events.
    if (owner === undefined) localStorage.removeItem(FLAG)
    else localStorage.setItem(FLAG, `${owner} ${Math.random()}`)
  },

  onAnnounced(listener) {
    addEventListener('storage', ({ key, newValue }) => {
      const [owner] = (key === FLAG && newValue?.split(' ')) || []
      if (owner !== undefined) listener(owner)
    })
  },
}

function beginLocked(manager: LockManager, owner: string): Promise<() => void> {
  return new Promise((begun) => {
    void manager.request(LOCK + owner, () => new Promise<void>((end) => begun(end)))
  })
}

async function beginBeating(owner: string): Promise<() => void> {
  const beat = () => localStorage.setItem(LOCK + owner, String(Date.now()))
  const end = () => localStorage.removeItem(LOCK + owner)
  beat()
  const timer = setInterval(beat, BEAT_MS)
  addEventListener('pagehide', end)
  addEventListener('pageshow', beat)
  return () => {
    clearInterval(timer)
    removeEventListener('pagehide', end)
    removeEventListener('pageshow', beat)
    end()
  }
}

function watchBeats(owner: string, act: () => void): void {
  const look = () => {
    if (Date.now() - Number(localStorage.getItem(LOCK + owner) ?? 0) > DEAD_MS) {
      localStorage.removeItem(LOCK + owner)
      act()
    } else setTimeout(look, BEAT_MS)
  }
  look()
}
