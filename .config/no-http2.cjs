/** In place of node:http2, a fifth of what the heart would load before its first heartbeat. */
module.exports = { constants: {} };
