import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { setWebdavPassword, useWebdavPassword } from '../api/account.ts'
import { useTexts } from '../texts/texts.tsx'
import { Button } from '../ui/button.tsx'
import { Failed, useWording } from '../ui/failed.tsx'
import { PasswordField } from '../ui/field.tsx'
import { Waiting } from '../ui/states.tsx'
import { useToast } from '../ui/toasts.tsx'

/** The second password, for programs that speak WebDAV. */
export function Webdav() {
  const texts = useTexts('account')
  const { data, error, refetch } = useWebdavPassword()
  const [secret, setSecret] = useState('')
  const { busy, failure, save } = useSaving()
  if (data === undefined) {
    return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Waiting />
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (await save(secret)) setSecret('')
  }

  return (
    <form className="card account-card stack" onSubmit={(event) => void submit(event)}>
      <h2>{texts.webdavPassword}</h2>
      <p className="muted">{texts.webdavHint}</p>
      <p role="status">{data.is_set ? texts.webdavSet : texts.webdavNotSet}</p>
      <PasswordField
        label={texts.newPassword}
        hint={texts.webdavRules}
        error={failure}
        autoComplete="new-password"
        required
        maxLength={29}
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
      <div className="account-buttons">
        <Button type="submit" variant="primary" busy={busy} disabled={secret === ''}>
          {data.is_set ? texts.webdavReplace : texts.webdavSave}
        </Button>
        {data.is_set && (
          <Button disabled={busy} onClick={() => void save('')}>
            {texts.webdavRemove}
          </Button>
        )}
      </div>
    </form>
  )
}

function useSaving() {
  const texts = useTexts('account')
  const queries = useQueryClient()
  const toast = useToast()
  const wording = useWording()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  async function save(secret: string): Promise<boolean> {
    setBusy(true)
    setFailure(undefined)
    try {
      await setWebdavPassword(secret)
      await queries.invalidateQueries({ queryKey: ['account', 'webdav'] })
      toast({ text: secret === '' ? texts.webdavRemoved : texts.webdavSaved })
      return true
    } catch (error) {
      setFailure(wording(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, failure, save }
}
