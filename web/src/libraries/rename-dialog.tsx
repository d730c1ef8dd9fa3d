import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type LibraryItem, renameLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, TextField } from '../ui/index.ts'

export function RenameDialog(props: { library: LibraryItem; onClose: () => void }) {
  const { repo_id: id, repo_name: before } = props.library
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const queries = useQueryClient()
  const [name, setName] = useState(before)
  const wanted = name.trim()

  async function rename(): Promise<void> {
    if (wanted === before) return
    await renameLibrary(id, wanted)
    await queries.invalidateQueries({ queryKey: ['libraries'] })
    void queries.invalidateQueries({ queryKey: ['library', id] })
    void queries.invalidateQueries({ queryKey: ['starred'] })
  }

  return (
    <FormDialog
      title={texts.rename}
      submit={common.rename}
      disabled={wanted === ''}
      onSubmit={rename}
      onClose={props.onClose}
    >
      <TextField
        label={common.name}
        autoFocus
        required
        maxLength={255}
        value={name}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}
