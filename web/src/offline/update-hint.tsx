import './offline.css'
import { useSyncExternalStore } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button } from '../ui/index.ts'
import { applyUpdate, hasUpdate, onUpdate } from './update-check.ts'

/** Says that the server has a newer version of the app than this page. */
export function UpdateHint() {
  const texts = useTexts('shell')
  if (!useSyncExternalStore(onUpdate, hasUpdate)) return null
  return (
    <p className="update-hint" role="status">
      {texts.newVersion}
      <Button onClick={applyUpdate}>{texts.reload}</Button>
    </p>
  )
}
