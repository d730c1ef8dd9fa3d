import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import { useAccount } from '../api/index.ts'
import { isTrayShown, loadEngine, onTrayShown } from './uploads.ts'

const TrayCard = lazy(() => import('./tray-card.tsx'))

/** Upload progress. Resumes uploads of an earlier visit. */
export function UploadTray() {
  const isWanted = useSyncExternalStore(onTrayShown, isTrayShown)
  const { data: account } = useAccount()
  const email = account?.email
  const mayHaveStored = localStorage.getItem('carrel.uploads') !== null
  useEffect(() => {
    if (email === undefined || !(isWanted || mayHaveStored)) return
    loadEngine().then(
      (engine) => engine.restore(email),
      () => undefined,
    )
  }, [email, isWanted, mayHaveStored])
  if (!isWanted) return null
  return (
    <Suspense fallback={null}>
      <TrayCard />
    </Suspense>
  )
}
