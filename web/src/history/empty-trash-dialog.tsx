import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { emptyTrash } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, SelectField, useToast } from '../ui/index.ts'

const DAYS = [0, 3, 7, 30, 90]

/** Asks which part of the trash to delete permanently. */
export function EmptyTrashDialog(props: { libraryId: string; onClose: () => void }) {
  const { libraryId, onClose } = props
  const texts = useTexts('history')
  const toast = useToast()
  const queries = useQueryClient()
  const [days, setDays] = useState(0)
  return (
    <FormDialog
      title={texts.emptyTrash}
      submit={texts.emptyNow}
      danger
      onClose={onClose}
      onSubmit={async () => {
        await emptyTrash(libraryId, days)
        toast({ text: texts.emptied })
        for (const key of ['trash', 'history']) void queries.invalidateQueries({ queryKey: [key, libraryId] })
      }}
    >
      <SelectField
        label={texts.whatGoes}
        value={String(days)}
        onChange={(event) => setDays(Number(event.target.value))}
      >
        {DAYS.map((count) => (
          <option key={count} value={count}>
            {count === 0 ? texts.everything : texts.olderThan(count)}
          </option>
        ))}
      </SelectField>
      <p>{texts.emptyWarning}</p>
    </FormDialog>
  )
}
