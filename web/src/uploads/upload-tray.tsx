import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import { useAccount } from '../api/account.ts'
import { isTrayWanted, loadEngine, onTrayWanted } from './uploads.ts'

const TrayCard = lazy(() => import('./tray-card.tsx'))

/** How uploads fare, once there are some. What an earlier visit left goes on. */
export function UploadTray() {
  const isWanted = useSyncExternalStore(onTrayWanted, isTrayWanted)
  const { data: account } = useAccount()
  const email = account?.email
  const mayHaveKept = localStorage.getItem('carrel.uploads') !== null
  useEffect(() => {
    if (email === undefined || !(isWanted || mayHaveKept)) return
    loadEngine().then(
      (engine) => engine.restore(email),
      () => undefined,
    )
  }, [email, isWanted, mayHaveKept])
  if (!isWanted) return null
  return (
    <Suspense fallback={null}>
      <TrayCard />
    </Suspense>
  )
}
