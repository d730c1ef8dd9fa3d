import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { createToken, type TokenPermission, useLibraries } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, Dialog, FormDialog, SelectField, TextField } from '../ui/index.ts'
import { CopyField } from './copy-field.tsx'
import { ExpirySelect, PermissionSelect } from './token-fields.tsx'
import { useConfirmation } from './use-confirmation.tsx'

/** Creates a token and shows it once. */
export function NewTokenDialog(props: { onClose: () => void }) {
  const [token, setToken] = useState<string>()
  if (token !== undefined) return <MadeDialog token={token} onClose={props.onClose} />
  return <TokenForm onCreated={setToken} onClose={props.onClose} />
}

function TokenForm(props: { onCreated: (token: string) => void; onClose: () => void }) {
  const texts = useTexts('account')
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [permission, setPermission] = useState<TokenPermission>('r')
  const [libraryId, setLibraryId] = useState('')
  const [days, setDays] = useState('90')
  const isMade = useRef(false)
  const { field, confirmed } = useConfirmation()

  async function make(): Promise<void> {
    const { token } = await confirmed((password) =>
      createToken({
        name: name.trim(),
        permission,
        repo_id: libraryId || undefined,
        expire_days: days === '' ? undefined : Number(days),
        current_password: password,
      }),
    )
    void queries.invalidateQueries({ queryKey: ['account', 'tokens'] })
    isMade.current = true
    props.onCreated(token)
  }

  return (
    <FormDialog
      title={texts.newToken}
      submit={texts.makeToken}
      disabled={name.trim() === ''}
      onSubmit={make}
      // The form closes after submit; the token is shown by then.
      onClose={() => isMade.current || props.onClose()}
    >
      <TextField
        label={texts.tokenName}
        placeholder={texts.tokenNamePlaceholder}
        autoFocus
        required
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <PermissionSelect value={permission} onChange={setPermission} />
      <LibrarySelect value={libraryId} onChange={setLibraryId} />
      <ExpirySelect value={days} onChange={setDays} />
      {field}
    </FormDialog>
  )
}

function LibrarySelect(props: { value: string; onChange: (id: string) => void }) {
  const texts = useTexts('account')
  const { data = [] } = useLibraries()
  // A library that is shared in two ways is listed twice.
  const names = new Map(data.map(({ repo_id, repo_name }) => [repo_id, repo_name]))
  return (
    <SelectField
      label={texts.library}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      <option value="">{texts.allLibraries}</option>
      {[...names].map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

function MadeDialog(props: { token: string; onClose: () => void }) {
  const texts = useTexts('account')
  const common = useTexts('common')
  const foot = (
    <Button variant="primary" onClick={props.onClose}>
      {common.done}
    </Button>
  )
  return (
    <Dialog title={texts.tokenMade} onClose={props.onClose} foot={foot}>
      <p>{texts.tokenOnce}</p>
      <CopyField label={texts.token} value={props.token} />
      <p className="muted">
        {texts.tokenUse} <code>Authorization: Token …</code>
      </p>
    </Dialog>
  )
}
