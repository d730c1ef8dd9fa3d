import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { useAccount } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useToast } from '../ui/index.ts'
import { isTrayShown, loadEngine, onTrayShown, takeFailure } from './uploads.ts'
import { FLAG } from './visit-flag.ts'

const TrayCard = lazy(() => import('./tray-card.tsx'))

/** Upload progress. Resumes uploads of an earlier visit. */
export function UploadTray() {
  const isWanted = useSyncExternalStore(onTrayShown, isTrayShown)
  const { data: account } = useAccount()
  const email = account?.email
  const [mayHaveStored, setMayHaveStored] = useState(() => localStorage.getItem(FLAG) !== null)
  useEffect(() => {
    // Another page records uploads, which this one takes over when that one is closed.
    const notice = ({ key, newValue }: StorageEvent) => {
      if (key === FLAG && newValue !== null) setMayHaveStored(true)
    }
    addEventListener('storage', notice)
    return () => removeEventListener('storage', notice)
  }, [])
  const texts = useTexts('uploads')
  const toast = useToast()
  useEffect(
    () =>
      onTrayShown(() => {
        if (takeFailure()) toast({ text: texts.notStarted, bad: true })
      }),
    [texts, toast],
  )
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
