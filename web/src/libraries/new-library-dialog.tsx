import { useQueryClient } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { createLibrary } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { CheckField, FormDialog, TextField, useToast } from '../ui/index.ts'
import { isUsable, NewPasswordFields, noPasswords } from './new-password-fields.tsx'

/** Creates a library and opens it. */
export default function NewLibraryDialog(props: { onClose: () => void }) {
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const queries = useQueryClient()
  const toast = useToast()
  const [, go] = useLocation()
  const [name, setName] = useState('')
  const [isEncrypted, setEncrypted] = useState(false)
  const [passwords, setPasswords] = useState(noPasswords)

  async function make(): Promise<void> {
    const made = await createLibrary(name.trim(), isEncrypted ? passwords.first : undefined)
    void queries.invalidateQueries({ queryKey: ['libraries'] })
    toast({ text: texts.made })
    go(folderUrl(made.repo_id))
  }

  return (
    <FormDialog
      title={texts.newLibrary}
      submit={common.create}
      disabled={name.trim() === '' || (isEncrypted && !isUsable(passwords))}
      onSubmit={make}
      onClose={props.onClose}
    >
      <TextField
        label={common.name}
        autoFocus
        required
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <CheckField
        label={
          <>
            {texts.encryptIt}
            <span className="field-hint libraries-check-hint">{texts.encryptHint}</span>
          </>
        }
        checked={isEncrypted}
        onChange={(event) => setEncrypted(event.target.checked)}
      />
      {isEncrypted && (
        <>
          <p className="libraries-warning">
            <TriangleAlert size={20} aria-hidden />
            {texts.encryptWarning}
          </p>
          <NewPasswordFields label={common.password} value={passwords} onChange={setPasswords} />
        </>
      )}
    </FormDialog>
  )
}
