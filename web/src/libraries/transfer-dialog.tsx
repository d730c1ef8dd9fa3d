import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useId, useState } from 'react'
import { type LibraryItem, searchPeople, transferLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { CheckField, FormDialog, TextField, useToast } from '../ui/index.ts'
import { NamedLibrary } from './named-library.tsx'

export function TransferDialog(props: { library: LibraryItem; onClose: () => void }) {
  const { repo_id: id, repo_name: name, encrypted, size } = props.library
  const texts = useTexts('libraries')
  const queries = useQueryClient()
  const toast = useToast()
  const [owner, setOwner] = useState('')
  const [keepShares, setKeepShares] = useState(true)

  async function transfer(): Promise<void> {
    await transferLibrary(id, owner.trim(), keepShares)
    await queries.invalidateQueries({ queryKey: ['libraries'] })
    toast({ text: texts.transferred(name) })
  }

  return (
    <FormDialog
      title={texts.transferTitle}
      submit={texts.transfer}
      disabled={owner.trim() === ''}
      onSubmit={transfer}
      onClose={props.onClose}
    >
      <NamedLibrary lead={texts.transferLead} name={name} encrypted={encrypted} size={size} />
      <p className="muted">{texts.transferText}</p>
      <PersonField value={owner} onChange={setOwner} />
      <CheckField
        label={texts.keepShares}
        checked={keepShares}
        onChange={(event) => setKeepShares(event.target.checked)}
      />
    </FormDialog>
  )
}

/** Email field with suggestions by name or address. */
function PersonField(props: { value: string; onChange: (value: string) => void }) {
  const texts = useTexts('libraries')
  const list = useId()
  const part = useDeferredValue(props.value.trim())
  const { data: people = [] } = useQuery({
    queryKey: ['people', part],
    queryFn: ({ signal }) => searchPeople(part, signal),
    enabled: part !== '',
    staleTime: 60_000,
    placeholderData: (before) => before,
  })
  return (
    <>
      <TextField
        label={texts.newOwner}
        hint={texts.newOwnerHint}
        list={list}
        autoCapitalize="none"
        required
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
      <datalist id={list}>
        {people.map(({ email, name }) => (
          <option key={email} value={email}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  )
}
