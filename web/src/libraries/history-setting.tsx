import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { setHistoryDays, useHistoryDays } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, SelectField, TextField, useFailureToast, useToast, Waiting } from '../ui/index.ts'

const USUAL_DAYS = 60
const MAX_DAYS = 36_500

type Kept = 'all' | 'none' | 'days'

/** How long a library keeps its history. */
export function HistorySetting(props: { libraryId: string }) {
  const { data: days, error, refetch } = useHistoryDays(props.libraryId)
  return (
    <section className="stack">
      {days === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {days !== undefined && <HistoryForm key={days} libraryId={props.libraryId} days={days} />}
    </section>
  )
}

function HistoryForm(props: { libraryId: string; days: number }) {
  const { libraryId } = props
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const [kept, setKept] = useState<Kept>(keptBy(props.days))
  const [text, setText] = useState(String(props.days > 0 ? props.days : USUAL_DAYS))
  const [busy, setBusy] = useState(false)
  const wanted = kept === 'all' ? -1 : kept === 'none' ? 0 : daysIn(text)

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (wanted === undefined) return
    setBusy(true)
    try {
      await setHistoryDays(libraryId, wanted)
      toast({ text: texts.historySaved })
      await queries.invalidateQueries({ queryKey: ['library', libraryId, 'history-days'] })
    } catch (error) {
      failed(error)
    }
    setBusy(false)
  }

  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      <div className="libraries-kept">
        <SelectField
          label={texts.historyKept}
          hint={texts.historyHint}
          value={kept}
          onChange={(event) => setKept(event.target.value as Kept)}
        >
          <option value="all">{texts.historyAll}</option>
          <option value="days">{texts.historyDays}</option>
          <option value="none">{texts.historyNone}</option>
        </SelectField>
        {kept === 'days' && (
          <TextField
            label={texts.days}
            inputMode="numeric"
            error={wanted === undefined && texts.daysInvalid}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </div>
      {kept === 'none' && <p className="field-error">{texts.historyNoneWarning}</p>}
      {wanted !== props.days && (
        <div>
          <Button type="submit" busy={busy} disabled={wanted === undefined}>
            {common.save}
          </Button>
        </div>
      )}
    </form>
  )
}

function keptBy(days: number): Kept {
  if (days < 0) return 'all'
  return days === 0 ? 'none' : 'days'
}

function daysIn(text: string): number | undefined {
  const days = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : 0
  return days >= 1 && days <= MAX_DAYS ? days : undefined
}
