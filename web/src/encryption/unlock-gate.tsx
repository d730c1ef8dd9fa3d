import './encryption.css'
import { type QueryCacheNotifyEvent, useQueryClient } from '@tanstack/react-query'
import { Lock, LockOpen } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { CarrelError, type LibraryDetail, lockLibrary, unlockLibrary, useLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, PasswordField, useFailureToast, useToast, Waiting } from '../ui/index.ts'
import { useUnlockError } from './unlock-error.ts'

/** Renders `children` once the library is unlocked. Asks for the password of an encrypted one first. */
export function UnlockGate(props: { libraryId: string; children: ReactNode }) {
  const { libraryId } = props
  const { data: library, error, refetch } = useLibrary(libraryId)
  if (library === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  if (!library.encrypted) return props.children
  if (library.lib_need_decrypt) return <UnlockForm library={library} />
  return (
    <div className="unlocked">
      <UnlockedBar libraryId={libraryId} />
      {props.children}
    </div>
  )
}

function UnlockForm(props: { library: LibraryDetail }) {
  const { repo_id: id, repo_name: name } = props.library
  const texts = useTexts('libraries')
  const queries = useQueryClient()
  const refusal = useUnlockError()
  const [password, setPassword] = useState('')
  // Focuses the field on page load, but not within a dialog.
  const [isAlone] = useState(() => document.activeElement === document.body)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  async function unlock(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    try {
      await unlockLibrary(id, password)
      await queries.invalidateQueries({ queryKey: ['library', id] })
      void queries.invalidateQueries({ queryKey: ['dir', id] })
    } catch (error) {
      setFailure(refusal(error))
      setBusy(false)
    }
  }

  return (
    <form className="unlock card" onSubmit={(event) => void unlock(event)}>
      <span className="state-sign">
        <Lock size={28} aria-hidden />
      </span>
      <h1>
        <bdi title={name}>{name}</bdi>
      </h1>
      <h2>{texts.lockedTitle}</h2>
      <p className="muted">{texts.lockedText}</p>
      <div className="unlock-field">
        <PasswordField
          label={texts.libraryPassword}
          error={failure}
          autoFocus={isAlone}
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Button type="submit" variant="primary" icon={LockOpen} busy={busy} disabled={password === ''}>
          {texts.unlock}
        </Button>
      </div>
    </form>
  )
}

/** Says that the library is unlocked, with a button to lock it. */
function UnlockedBar(props: { libraryId: string }) {
  const { libraryId } = props
  const texts = useTexts('libraries')
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const [busy, setBusy] = useState(false)
  useLockDetection(libraryId)

  async function lock(): Promise<void> {
    setBusy(true)
    try {
      await lockLibrary(libraryId)
      await queries.invalidateQueries({ queryKey: ['library', libraryId] })
      queries.removeQueries({ queryKey: ['dir', libraryId] })
      toast({ text: texts.lockedAgain })
    } catch (error) {
      failed(error)
      setBusy(false)
    }
  }

  return (
    <div className="unlocked-bar">
      <LockOpen size={16} aria-hidden />
      <span>{texts.isOpen}</span>
      <Button variant="quiet" icon={Lock} busy={busy} onClick={() => void lock()}>
        {texts.lockAgain}
      </Button>
    </div>
  )
}

const LOOK_AGAIN_MS = 60_000

/** Refetches the library periodically and when a request is refused, because it locks after an hour or in another tab. */
function useLockDetection(libraryId: string): void {
  const queries = useQueryClient()
  useEffect(() => {
    const look = () => void queries.invalidateQueries({ queryKey: ['library', libraryId], exact: true })
    const timer = setInterval(look, LOOK_AGAIN_MS)
    const refused = ({ type, query, ...event }: QueryCacheNotifyEvent) => {
      if (type !== 'updated' || query.queryKey[0] === 'library' || !query.queryKey.includes(libraryId)) return
      const { action } = event as { action?: { type: string; error?: unknown } }
      const error = action?.type === 'error' ? action.error : undefined
      if (error instanceof CarrelError && (error.status === 403 || error.status === 440)) look()
    }
    const unsubscribe = queries.getQueryCache().subscribe(refused)
    return () => {
      clearInterval(timer)
      unsubscribe()
    }
  }, [queries, libraryId])
}
