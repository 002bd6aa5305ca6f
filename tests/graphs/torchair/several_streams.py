# -*- coding: utf-8 -*-
from torch import tensor
from torchair._ge_concrete_graph import ge_apis as ge
from torchair.ge._ge_graph import get_default_ge_graph

arg0_1_0 = ge.Data(index=0, dtype=0, shape=[8, 16], placement="CPU", node_name="arg0_1")
arg1_1_0 = ge.Data(index=1, dtype=0, shape=[16, 16], placement="CPU", node_name="arg1_1")
arg2_1_0 = ge.Data(index=2, dtype=0, shape=[8, 16], placement="CPU", node_name="arg2_1")

## FX Code: scope_enter = torch.ops.air.scope_enter.default(['_super_kernel_scope', '_super_kernel_options'], ['all', 'stream-fusion=1'])

# File "model.py", line 23, in several_streams    a = torch.mm(x, w)        ^^^^^^^^^^^^^^
## FX Code: mm: torch.float32[8, 16]cpu = torch.ops.aten.mm.default(arg0_1: torch.float32[8, 16]cpu, arg1_1: torch.float32[16, 16]cpu)
MatMul_0 = ge.MatMul(arg0_1_0, arg1_1_0, None, node_name="MatMul")

## FX Code: record: torch.float32[0]cpu = torch.ops.air.record.default()
## FX Code: scope_enter_1 = torch.ops.air.scope_enter.default(['_user_stream_label', '_user_stream_priority', '_enable_inner_parallel'], ['side', '2', 'True'])

## FX Code: wait = torch.ops.air.wait.default([record])

# File "model.py", line 27, in several_streams    b = torch.exp(x)        ^^^^^^^^^^^^
## FX Code: exp: torch.float32[8, 16]cpu = torch.ops.aten.exp.default(arg0_1: torch.float32[8, 16]cpu)
Exp_0 = ge.Exp(arg0_1_0, node_name="Exp")
## FX Code: scope_enter_2 = torch.ops.air.scope_enter.default(['_op_aicore_num', '_op_vectorcore_num'], ['4', '8'])

# File "model.py", line 29, in several_streams    c = torch.tanh(b) * a        ^^^^^^^^^^^^^^^^^
## FX Code: tanh: torch.float32[8, 16]cpu = torch.ops.aten.tanh.default(exp: torch.float32[8, 16]cpu)
Tanh_0 = ge.Tanh(Exp_0, node_name="Tanh")
## FX Code: mul: torch.float32[8, 16]cpu = torch.ops.aten.mul.Tensor(tanh: torch.float32[8, 16]cpu, mm: torch.float32[8, 16]cpu)
Mul_0 = ge.Mul(Tanh_0, MatMul_0, node_name="Mul")
Cast_0 = ge.Cast(Mul_0, dst_type=0, node_name="Cast")

## FX Code: scope_exit = torch.ops.air.scope_exit.default()
## FX Code: record_1: torch.float32[0]cpu = torch.ops.air.record.default()
## FX Code: scope_exit_1 = torch.ops.air.scope_exit.default()
## FX Code: scope_enter_3 = torch.ops.air.scope_enter.default(['_user_stream_label', '_user_stream_priority', '_enable_inner_parallel'], ['other', '0', 'True'])

## FX Code: wait_tensor: torch.float32[8, 16]cpu = torch.ops.air.wait_tensor.default(arg0_1: torch.float32[8, 16]cpu, mm: torch.float32[8, 16]cpu)
Identity_0 = ge.Identity(arg0_1_0, node_name="Identity")

# File "model.py", line 32, in several_streams    d = torch.sigmoid(S.npu_wait_tensor(x, a))        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
## FX Code: sigmoid: torch.float32[8, 16]cpu = torch.ops.aten.sigmoid.default(wait_tensor: torch.float32[8, 16]cpu)
Sigmoid_0 = ge.Sigmoid(Identity_0, node_name="Sigmoid")
## FX Code: scope_exit_2 = torch.ops.air.scope_exit.default()

# File "model.py", line 33, in several_streams    e = torch.relu(a) * 2        ^^^^^^^^^^^^^^^^^
## FX Code: relu: torch.float32[8, 16]cpu = torch.ops.aten.relu.default(mm: torch.float32[8, 16]cpu)
Relu_0 = ge.Relu(MatMul_0, node_name="Relu")
## FX Code: mul_1: torch.float32[8, 16]cpu = torch.ops.aten.mul.Tensor(relu: torch.float32[8, 16]cpu, 2)
Mul_1_0 = ge.Mul(Relu_0, ge.Const(2, dtype=0), node_name="Mul_1")
Cast_1_0 = ge.Cast(Mul_1_0, dst_type=0, node_name="Cast_1")
## FX Code: wait_1 = torch.ops.air.wait.default([record_1])

# File "model.py", line 35, in several_streams    f = torch.neg(e)        ^^^^^^^^^^^^
## FX Code: neg: torch.float32[8, 16]cpu = torch.ops.aten.neg.default(mul_1: torch.float32[8, 16]cpu)
Neg_0 = ge.Neg(Cast_1_0, node_name="Neg")

# File "model.py", line 36, in several_streams    g = f + c * d            ^^^^^
## FX Code: mul_2: torch.float32[8, 16]cpu = torch.ops.aten.mul.Tensor(mul: torch.float32[8, 16]cpu, sigmoid: torch.float32[8, 16]cpu)
Mul_2_0 = ge.Mul(Cast_0, Sigmoid_0, node_name="Mul_2")
Cast_2_0 = ge.Cast(Mul_2_0, dst_type=0, node_name="Cast_2")

# File "model.py", line 36, in several_streams    g = f + c * d        ^^^^^^^^^
## FX Code: add: torch.float32[8, 16]cpu = torch.ops.aten.add.Tensor(neg: torch.float32[8, 16]cpu, mul_2: torch.float32[8, 16]cpu)
Add_0 = ge.Add(Neg_0, Cast_2_0, node_name="Add")
## FX Code: scope_exit_3 = torch.ops.air.scope_exit.default()

# File "model.py", line 37, in several_streams    kept.add_(g)
## FX Code: add_1: torch.float32[8, 16]cpu = torch.ops.aten.add.Tensor(arg2_1: torch.float32[8, 16]cpu, add: torch.float32[8, 16]cpu)
Add_1_0 = ge.Add(arg2_1_0, Add_0, node_name="Add_1")

# File "model.py", line 38, in several_streams    return torch.abs(g)           ^^^^^^^^^^^^
## FX Code: abs_1: torch.float32[8, 16]cpu = torch.ops.aten.abs.default(add: torch.float32[8, 16]cpu)
Abs_0 = ge.Abs(Add_0, node_name="Abs")
## FX Code: copy_: torch.float32[8, 16]cpu = torch.ops.aten.copy_.default(arg2_1: torch.float32[8, 16]cpu, add_1: torch.float32[8, 16]cpu)
Assign_0 = ge.Assign(arg2_1_0, Add_1_0, node_name="Assign")

_ = ge.NetOutput([Abs_0], dependencies=[])
