//! The solver's own operations, named by `{:bvbuiltin}` and `{:builtin}`.

use super::value::{Limit, Value};
use crate::check::{Checked, Ty, TyKind};

/// A bitvector with the bits beyond its width cut off.
pub(super) fn bv(width: u32, bits: u128) -> Value {
    let mask = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
    Value::Bv { width, bits: bits & mask }
}

fn signed(width: u32, bits: u128) -> i128 {
    match width {
        0 => 0,
        128.. => bits as i128,
        _ if bits >> (width - 1) & 1 == 1 => bits as i128 - (1i128 << width),
        _ => bits as i128,
    }
}

pub(super) fn apply(name: &str, args: &[Value], checked: &Checked, result: Ty) -> Result<Value, Limit> {
    let unknown = || Limit::Builtin(name.to_owned());
    // Indexed operators are written `(_ zero_extend 24)` or `zero_extend 24`.
    let plain = name.trim_start_matches("(_ ").trim_end_matches(')');
    let (operator, parameter) = plain.split_once(' ').unwrap_or((plain, ""));
    let result_width = match checked.types.kind(result) {
        TyKind::Bv(width) if *width <= 128 => *width,
        TyKind::Bool | TyKind::Int => 0,
        _ => return Err(unknown()),
    };
    match args {
        [Value::Bv { width, bits }] => {
            let (width, bits) = (*width, *bits);
            match operator {
                "bvnot" => Ok(bv(width, !bits)),
                "bvneg" => Ok(bv(width, bits.wrapping_neg())),
                "zero_extend" => Ok(bv(result_width, bits)),
                "sign_extend" => Ok(bv(result_width, signed(width, bits) as u128)),
                "bv2nat" | "bv2int" | "ubv_to_int" => {
                    i128::try_from(bits).map(Value::Int).map_err(|_| Limit::Magnitude)
                }
                "rotate_left" | "rotate_right" => {
                    let by: u32 = parameter.parse().map_err(|_| unknown())?;
                    if width == 0 {
                        return Ok(bv(0, 0));
                    }
                    let by = by % width;
                    let left = if operator == "rotate_left" { by } else { width - by };
                    let high = bits.checked_shl(left).unwrap_or(0);
                    let low = bits.checked_shr(width - left).unwrap_or(0);
                    Ok(bv(width, high | low))
                }
                _ => Err(unknown()),
            }
        }
        [Value::Int(n)] if operator == "int2bv" || operator == "nat2bv" || operator == "int_to_bv" => {
            Ok(bv(result_width, *n as u128))
        }
        [Value::Bv { width, bits: a }, Value::Bv { bits: b, .. }] => {
            bv_binary(operator, *width, *a, *b).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

fn bv_binary(operator: &str, width: u32, a: u128, b: u128) -> Option<Value> {
    let (sa, sb) = (signed(width, a), signed(width, b));
    let shift = |f: fn(u128, u32) -> u128| if b >= u128::from(width) { 0 } else { f(a, b as u32) };
    let ones = u128::MAX;
    let bits = match operator {
        "bvadd" => a.wrapping_add(b),
        "bvsub" => a.wrapping_sub(b),
        "bvmul" => a.wrapping_mul(b),
        "bvand" => a & b,
        "bvor" => a | b,
        "bvxor" => a ^ b,
        "bvnand" => !(a & b),
        "bvnor" => !(a | b),
        "bvxnor" => !(a ^ b),
        "bvshl" => shift(|a, b| a << b),
        "bvlshr" => shift(|a, b| a >> b),
        "bvashr" if b >= u128::from(width) => {
            if sa < 0 {
                ones
            } else {
                0
            }
        }
        "bvashr" => (sa >> b) as u128,
        // SMT-LIB: the quotient by zero has all bits set, the remainder is the dividend.
        "bvudiv" => a.checked_div(b).unwrap_or(ones),
        "bvurem" => a.checked_rem(b).unwrap_or(a),
        "bvsdiv" if sb == 0 => {
            if sa < 0 {
                1
            } else {
                ones
            }
        }
        "bvsdiv" => sa.wrapping_div(sb) as u128,
        "bvsrem" => {
            if sb == 0 {
                a
            } else {
                sa.wrapping_rem(sb) as u128
            }
        }
        "bvsmod" if sb == 0 => a,
        "bvsmod" => {
            let remainder = sa.wrapping_rem(sb);
            let fix = remainder != 0 && (remainder < 0) != (sb < 0);
            (if fix { remainder + sb } else { remainder }) as u128
        }
        "bvult" => return Some(Value::Bool(a < b)),
        "bvule" => return Some(Value::Bool(a <= b)),
        "bvugt" => return Some(Value::Bool(a > b)),
        "bvuge" => return Some(Value::Bool(a >= b)),
        "bvslt" => return Some(Value::Bool(sa < sb)),
        "bvsle" => return Some(Value::Bool(sa <= sb)),
        "bvsgt" => return Some(Value::Bool(sa > sb)),
        "bvsge" => return Some(Value::Bool(sa >= sb)),
        "bvcomp" => return Some(bv(1, u128::from(a == b))),
        _ => return None,
    };
    Some(bv(width, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_operations_follow_smt_lib() {
        let op = |name, a, b| bv_binary(name, 4, a, b);
        assert_eq!(op("bvsdiv", 0b1001, 2), Some(bv(4, 0b1101)), "-7 / 2 = -3");
        assert_eq!(op("bvsrem", 0b1001, 2), Some(bv(4, 0b1111)), "-7 rem 2 = -1");
        assert_eq!(op("bvsmod", 0b1001, 2), Some(bv(4, 1)), "-7 mod 2 = 1");
        assert_eq!(op("bvudiv", 5, 0), Some(bv(4, 15)));
        assert_eq!(op("bvashr", 0b1000, 9), Some(bv(4, 15)));
        assert_eq!(op("bvshl", 1, 4), Some(bv(4, 0)));
        assert_eq!(op("bvslt", 0b1000, 0), Some(Value::Bool(true)));
    }
}
