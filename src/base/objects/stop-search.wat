;; Searches bytes for chunk boundaries, 16 positions at a time. stop-search.ts explains the method.
;; `npm run build:wasm` compiles this file to stop-search.wasm, which is checked in.

(module
  (memory (export "memory") 1 1)

  ;; Returns the first position from $at on where a group of 16 begins that may contain a boundary,
  ;; or where fewer than 16 bytes are left before $end. Reads the 49 bytes before $at as well.
  (func (export "find") (param $at i32) (param $end i32) (result i32)
    (local $left v128)   ;; the 16 bytes that leave the window
    (local $lowest v128) ;; the positions whose lowest fingerprint byte is 0x13
    (loop $next (result i32)
      (if (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end))
        (then (return (local.get $at))))

      ;; Lowest fingerprint byte: the byte itself ^ bits 0 to 7 of leaving[left]. The table is linear, so a
      ;; lookup is one swizzle for the lower and one for the upper four bits of the index.
      (local.set $left (v128.load align=1 (i32.sub (local.get $at) (i32.const 48))))
      (local.set $lowest
        (i8x16.eq
          (v128.xor
            (v128.xor
              (i8x16.swizzle ;; leaving[0x00 to 0x0f], bits 0 to 7
                (v128.const i8x16
                  0x00 0x19 0x32 0x2b 0x64 0x7d 0x56 0x4f 0xc8 0xd1 0xfa 0xe3 0xac 0xb5 0x9e 0x87)
                (v128.and (local.get $left) (i8x16.splat (i32.const 0x0f))))
              (i8x16.swizzle ;; leaving[0x00, 0x10 to 0xf0], bits 0 to 7
                (v128.const i8x16
                  0x00 0x13 0x26 0x35 0x4c 0x5f 0x6a 0x79 0x1b 0x08 0x3d 0x2e 0x57 0x44 0x71 0x62)
                (i8x16.shr_u (local.get $left) (i32.const 4))))
            (v128.load align=1 (local.get $at)))
          (i8x16.splat (i32.const 0x13))))

      ;; One group in 16 has a match in the lowest byte. Only then is the second byte computed.
      (if (v128.any_true (local.get $lowest))
        (then
          ;; Second fingerprint byte: the byte before ^ bits 8 to 15 of leaving[left]
          ;; ^ bits 0 to 7 of leaving[the byte before left]. It must be zero.
          (if
            (v128.any_true
              (v128.and
                (local.get $lowest)
                (i8x16.eq
                  (v128.xor
                    (v128.xor
                      (v128.xor
                        (i8x16.swizzle ;; leaving[0x00 to 0x0f], bits 8 to 15
                          (v128.const i8x16
                            0x00 0xbb 0x76 0xcd 0xec 0x57 0x9a 0x21 0xd8 0x63 0xae 0x15 0x34 0x8f 0x42 0xf9)
                          (v128.and (local.get $left) (i8x16.splat (i32.const 0x0f))))
                        (i8x16.swizzle ;; leaving[0x00, 0x10 to 0xf0], bits 8 to 15
                          (v128.const i8x16
                            0x00 0x3c 0x78 0x44 0xf0 0xcc 0x88 0xb4 0x6d 0x51 0x15 0x29 0x9d 0xa1 0xe5 0xd9)
                          (i8x16.shr_u (local.get $left) (i32.const 4))))
                      (v128.load align=1 (i32.sub (local.get $at) (i32.const 1))))
                    (v128.xor
                      (i8x16.swizzle
                        (v128.const i8x16
                          0x00 0x19 0x32 0x2b 0x64 0x7d 0x56 0x4f 0xc8 0xd1 0xfa 0xe3 0xac 0xb5 0x9e 0x87)
                        (v128.and
                          (v128.load align=1 (i32.sub (local.get $at) (i32.const 49)))
                          (i8x16.splat (i32.const 0x0f))))
                      (i8x16.swizzle
                        (v128.const i8x16
                          0x00 0x13 0x26 0x35 0x4c 0x5f 0x6a 0x79 0x1b 0x08 0x3d 0x2e 0x57 0x44 0x71 0x62)
                        (i8x16.shr_u
                          (v128.load align=1 (i32.sub (local.get $at) (i32.const 49)))
                          (i32.const 4)))))
                  (i8x16.splat (i32.const 0)))))
            (then (return (local.get $at))))))

      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next))))
