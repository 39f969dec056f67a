// Sends large files in parts before the form that has them, and goes on where a cut was.
"use strict";

// SHA-256 (FIPS 180-4) of what comes piece by piece, which browsers have for whole files alone.
class Sha256 {
  static #primes = Array.from({length: 312}, (_, n) => n).filter((n) =>
    n > 1 && !Array.from({length: n - 2}, (_, m) => m + 2).some((m) => n % m === 0)).slice(0, 64);
  static #fraction = (root) => (root - Math.floor(root)) * 2 ** 32 | 0;
  static #K = Int32Array.from(Sha256.#primes, (n) => Sha256.#fraction(Math.cbrt(n)));
  #state = Int32Array.from(Sha256.#primes.slice(0, 8), (n) => Sha256.#fraction(Math.sqrt(n)));
  #words = new Int32Array(64);
  #rest = new Uint8Array(0);
  #length = 0;

  update(bytes) {
    this.#length += bytes.length;
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const view = new DataView(all.buffer);
    const end = all.length - all.length % 64;
    for (let place = 0; place < end; place += 64) this.#block(view, place);
    this.#rest = all.slice(end);
  }

  #block(view, place) {
    const [w, K, state] = [this.#words, Sha256.#K, this.#state];
    for (let t = 0; t < 16; t++) w[t] = view.getInt32(place + 4 * t);
    for (let t = 16; t < 64; t++) {
      const [x, y] = [w[t - 15], w[t - 2]];
      const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
      const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
      w[t] = w[t - 16] + s0 + w[t - 7] + s1 | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const S1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
      const t1 = h + S1 + (e & f ^ ~e & g) + K[t] + w[t] | 0;
      const S0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
      const t2 = S0 + (a & b ^ a & c ^ b & c) | 0;
      h = g; g = f; f = e; e = d + t1 | 0; d = c; c = b; b = a; a = t1 + t2 | 0;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d;
    state[4] += e; state[5] += f; state[6] += g; state[7] += h;
  }

  hex() {
    const bits = this.#length * 8;
    const end = new Uint8Array((this.#rest.length < 56 ? 64 : 128) - this.#rest.length);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits % 2 ** 32);
    this.update(end);
    return [...this.#state].map((n) => (n >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

const PIECE = 4 * 2 ** 20;
const PAUSES = [1, 2, 5, 10, 30, 60];  // seconds before a part is tried again

const digestOf = async (file, tell) => {
  const sha = new Sha256();
  for (let place = 0; place < file.size; place += PIECE) {
    sha.update(new Uint8Array(await file.slice(place, place + PIECE).arrayBuffer()));
    tell(Math.min(place + PIECE, file.size));
  }
  return sha.hex();
};

class Refused extends Error {}

// What the API answers; it throws what it refuses, in its words.
const ask = async (method, path, body, headers) => {
  const answer = await fetch(`/api/v1/large-files${path}`, {method, body, headers});
  const told = await answer.json();
  if (answer.ok) return told;
  throw answer.status >= 500 || answer.status === 429 ? new Error(told.detail) : new Refused(told.detail);
};

// Sends a file as far as the server has not got it, and gives its digest.
const sendFile = async (file, secret, tell) => {
  const digest = await digestOf(file, (done) => tell("reading", done));
  const headers = {"X-CSRFToken": secret};
  let state = await ask("POST", "", JSON.stringify({digest, size: file.size}),
    {...headers, "Content-Type": "application/json"});
  for (let failed = 0; state.received < file.size;) {
    tell("sending", state.received);
    const part = file.slice(state.received, state.received + state.part_bytes);
    try {
      state = await ask("PATCH", `/${digest}?offset=${state.received}`, part,
        {...headers, "Content-Type": "application/octet-stream"});
      failed = 0;
    } catch (error) {
      // The part may have come though its answer did not.
      const now = await ask("GET", `/${digest}`).catch(() => state);
      if (now.received === state.received) {
        if (error instanceof Refused || failed === PAUSES.length) throw error;
        await new Promise((go) => setTimeout(go, 1000 * PAUSES[failed++]));
      }
      state = now;
    }
  }
  return digest;
};
