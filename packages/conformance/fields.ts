import assert from 'node:assert/strict'
import type { Kind } from './kinds.ts'
import type { Stage } from './stage.ts'
import { type Case, Difference } from './statement.ts'

/** A documented kind of record, and how to obtain one. */
interface Resource {
  readonly section: string
  /** With its article, as in the middle of a sentence: "a file detail". */
  readonly name: string
  readonly fields: Readonly<Record<string, Kind>>
  readonly notes?: Readonly<Record<string, string>>
  /** Fields we send beyond the documented ones. */
  readonly more?: { readonly fields: readonly string[]; readonly why: string }
  readonly sample: (stage: Stage) => Promise<Record<string, unknown>>
}

/**
 * A case for each field of a record and its kind, and one that the record has these fields, those named
 * in `more` and no others. All use the same record.
 */
export function fieldCases({ section, name, fields, notes = {}, more, sample }: Resource): Case[] {
  const samples = new WeakMap<Stage, Promise<Record<string, unknown>>>()
  const sampleOn = (stage: Stage) => {
    const made = samples.get(stage) ?? sample(stage)
    samples.set(stage, made)
    return made
  }
  const names = Object.keys(fields)
  const slug = name.replace(/^(an?|the) /, '').replaceAll(' ', '-')
  const whole: Case = {
    id: `${section}/${slug}`,
    statement: `${name.charAt(0).toUpperCase()}${name.slice(1)} has ${names.map((field) => `\`${field}\``).join(', ')}`,
    ...(more && { note: `Also ${more.fields.map((field) => `\`${field}\``).join(', ')}: ${more.why}` }),
    async run(stage) {
      const sent = Object.keys(await sampleOn(stage))
      const missing = names.filter((field) => !sent.includes(field))
      assert.deepEqual(missing, [], `these fields are missing: ${missing.join(', ')}`)
      if (stage.checksNotes) {
        assert.deepEqual(sent.toSorted(), [...names, ...(more?.fields ?? [])].toSorted())
      }
    },
  }
  const each = Object.entries(fields).map(([field, { words, holds }]): Case => {
    const note = notes[field]
    return {
      id: `${section}/${slug}.${field}`,
      statement: `\`${field}\` of ${name} is ${words}`,
      ...(note !== undefined && { note }),
      async run(stage) {
        const value = (await sampleOn(stage))[field]
        if (!holds(value)) throw new Difference(words, JSON.stringify(value) ?? 'nothing')
      },
    }
  })
  return [whole, ...each]
}
